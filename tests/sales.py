"""The sample region_sales: its tables by a seed, eleven questions, and their gold by SQL over them → data/samples.

`python tests/sales.py` writes the sample and its gold anew; `python tests/sales.py DIR` lays the questions out as a suite of
eleven task folders with gold.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
import sqlite3
import sys
import tomllib
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "data" / "samples" / "region_sales"
GOLD = ROOT / "data" / "samples" / "gold" / "region_sales"
AS_OF = date(2026, 11, 30)
"""The day that `最近` and `this year` count from."""
Rows = list[tuple[Any, ...]]

_REGIONS = {
    "华北": "北京 天津 河北 山西 内蒙古",
    "东北": "辽宁 吉林 黑龙江",
    "华东": "上海 江苏 浙江 安徽 福建 江西 山东",
    "华中": "河南 湖北 湖南",
    "华南": "广东 广西 海南",
    "西南": "重庆 四川 贵州 云南 西藏",
    "西北": "陕西 甘肃 青海 宁夏 新疆",
}
_PRODUCTS = (
    ("无线耳机", "数码", "声海", 299), ("智能手表", "数码", "声海", 899), ("机械键盘", "数码", "拓界", 459),
    ("移动电源", "数码", "拓界", 129), ("空气炸锅", "家电", "暖屋", 399), ("电热水壶", "家电", "暖屋", 119),
    ("扫地机器人", "家电", "净方", 1899), ("加湿器", "家电", "净方", 219), ("羽绒服", "服饰", "北岭", 799),
    ("运动鞋", "服饰", "北岭", 429), ("冲锋衣", "服饰", "野径", 659), ("帐篷", "户外", "野径", 559),
    ("登山杖", "户外", "野径", 149), ("保温杯", "户外", "北岭", 89),
)  # fmt: skip
_NAMES = [
    "王芳",
    "李伟",
    "张敏",
    "刘洋",
    "陈静",
    "杨磊",
    "赵倩",
    "黄涛",
    "周婷",
    "吴刚",
    "徐丽",
    "孙浩",
    "胡雪",
    "朱军",
    "高颖",
    "林峰",
    "何琳",
    "郭强",
    "马超",
    "罗娜",
]
_CITIES = ["北京", "上海", "广州", "成都", "西安", "武汉", "沈阳", "杭州"]
_LEVELS = ("普通", "银卡", "金卡", "钻石")
_CHANNELS = ("旗舰店", "小程序", "线下门店", "分销商")
_PAY = ((1, "支付宝"), (2, "微信支付"), (3, "银行卡"), (4, "货到付款"))
_STATUS = ("已完成", "已完成", "已完成", "已完成", "已发货", "已取消")
_REASONS = ("破损", "尺寸不合", "不喜欢", "发错货")
_FIRST = date(2025, 1, 1)


class Made(NamedTuple):
    """A table of the sample: where it lies, its columns and its rows."""

    path: str
    columns: tuple[str, ...]
    rows: Rows


class Asked(NamedTuple):
    """A question, the SQL that gives its gold, and what it is there for."""

    name: str
    kind: str
    text: str
    sql: str


def tables() -> dict[str, Made]:
    """All tables by name; the same ones at every call."""
    rng = random.Random(20261130)
    regions = [(name, province) for name, provinces in _REGIONS.items() for province in provinces.split()]
    days = [_FIRST + timedelta(days=n) for n in range((AS_OF - _FIRST).days + 1)]
    orders = [_order(number, rng, days, len(regions)) for number in range(1, 721)]
    kept = [row for row in orders if row[-1] == "已完成"]
    returned = [
        (f"R{n:04}", row[0], rng.randint(1, row[7]), rng.choice(_REASONS), _later(row[5], n % 14))
        for n, row in enumerate(rng.sample(kept, 110), start=1)
    ]
    staff = [
        (f"E{n:03}", day.isoformat(), rng.choice(("正常", "迟到", "请假"))) for n in range(1, 9) for day in days[:20]
    ]
    stock = [(p, rng.choice(("廊坊仓", "昆山仓")), rng.randint(0, 400), rng.randint(20, 80)) for p in range(1, 15)]
    people = [
        (f"C{n:03}", name, rng.choice("男女"), rng.choice(_LEVELS), rng.choice(_CITIES), rng.choice(days).isoformat())
        for n, name in enumerate((a + b for a in ("", "小") for b in _NAMES), start=1)
    ]
    return {
        "fact_order": Made(
            "csv/fact_order.csv",
            ("order_id", "customer_id", "product_id", "region_id", "channel_id", "date_id", "pay_code",
             "order_quantity", "order_amount", "order_status"), orders),
        "dim_region": Made(
            "csv/dim_region.csv", ("region_id", "region_name", "province", "country"),
            [(n, name, province, "中国") for n, (name, province) in enumerate(regions, start=1)]),
        "dim_product": Made(
            "json/dim_product.json", ("product_id", "product_name", "category", "brand", "list_price"),
            [(n, *product) for n, product in enumerate(_PRODUCTS, start=1)]),
        "dim_customer": Made(
            "db/crm.db", ("customer_id", "customer_name", "gender", "member_level", "home_city", "join_date"), people),
        "fact_return": Made(
            "db/crm.db", ("return_id", "order_id", "return_quantity", "reason", "date_id"), returned),
        "dim_date": Made(
            "db/base.db", ("date_id", "full_date", "year", "quarter", "month"),
            [(_id(day), day.isoformat(), day.year, (day.month + 2) // 3, day.month) for day in days]),
        "dim_channel": Made("db/base.db", ("channel_id", "channel_name"), list(enumerate(_CHANNELS, start=1))),
        "ref_07": Made("db/base.db", ("code", "label"), list(_PAY)),
        "fact_stock": Made("csv/fact_stock.csv", ("product_id", "warehouse", "on_hand", "safety_level"), stock),
        "staff_attendance": Made("csv/staff_attendance.csv", ("staff_id", "work_date", "attendance"), staff),
    }  # fmt: skip


def _order(number: int, rng: random.Random, days: list[date], regions: int) -> tuple[Any, ...]:
    product, quantity = rng.randint(1, len(_PRODUCTS)), rng.randint(1, 5)
    amount = round(_PRODUCTS[product - 1][3] * quantity * rng.choice((1, 1, 0.95, 0.9)), 2)
    customer, region = f"C{rng.randint(1, 2 * len(_NAMES)):03}", rng.randint(1, regions)
    day, channel, pay = rng.choice(days), rng.randint(1, len(_CHANNELS)), rng.choice((1, 1, 1, 2, 2, 3, 4))
    return (
        f"SO{number:05}", customer, product, region, channel, _id(day), pay, quantity, amount, rng.choice(_STATUS),
    )  # fmt: skip


def _later(date_id: int, days: int) -> int:
    day = date.fromisoformat(str(date_id)) + timedelta(days=days)
    return _id(min(day, AS_OF))


def _id(day: date) -> int:
    return int(f"{day:%Y%m%d}")


def questions() -> list[Asked]:
    """The worked example first, then ten more; their text stands in the sample, their SQL in tests/cases."""
    told = tomllib.loads((ROOT / "tests" / "cases" / "sales.toml").read_text("utf-8"))["question"]
    return [Asked(**one) for one in told]


def database() -> sqlite3.Connection:
    """All tables in memory."""
    connection = sqlite3.connect(":memory:")
    for name, made in tables().items():
        _fill(connection, name, made)
    return connection


def gold(asked: Asked) -> tuple[list[str], Rows]:
    """Names and rows that the question's SQL gives."""
    with closing(database()) as connection:
        found = connection.execute(asked.sql)
        return [column[0] for column in found.description], [tuple(row) for row in found.fetchall()]


def lay(folder: Path) -> None:
    """Write the tables below `folder`, each into its file."""
    databases: dict[str, dict[str, Made]] = {}
    for name, made in tables().items():
        path = folder / made.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".db":
            databases.setdefault(made.path, {})[name] = made
        elif path.suffix == ".json":
            records = [dict(zip(made.columns, row, strict=True)) for row in made.rows]
            lines = ",\n  ".join(json.dumps(record, ensure_ascii=False) for record in records)
            path.write_text(f'{{"table": "{name}", "records": [\n  {lines}\n]}}\n', "utf-8")
        else:
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([made.columns, *made.rows])
    for place, inside in databases.items():
        (folder / place).unlink(missing_ok=True)
        with closing(sqlite3.connect(folder / place)) as connection:
            for name, made in inside.items():
                _fill(connection, name, made)


def _fill(connection: sqlite3.Connection, name: str, made: Made) -> None:
    kinds = {int: "INTEGER", float: "REAL", str: "TEXT"}
    columns = ", ".join(f"{c} {kinds[type(v)]}" for c, v in zip(made.columns, made.rows[0], strict=True))
    connection.execute(f"CREATE TABLE {name} ({columns})")
    connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(made.columns))})", made.rows)
    connection.commit()


def write_gold(asked: Asked, path: Path) -> None:
    """Write a question's gold as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names, rows = gold(asked)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *rows])


def suite(folder: Path) -> None:
    """One task folder a question, and their gold below `gold/`."""
    for asked in questions():
        shutil.copytree(SAMPLE / "context", folder / asked.name / "context", dirs_exist_ok=True)
        task = {"task_id": asked.name, "question": asked.text}
        (folder / asked.name / "task.json").write_text(json.dumps(task, ensure_ascii=False), "utf-8")
        write_gold(asked, folder / "gold" / asked.name / "gold.csv")
        (folder / "gold" / asked.name / "gold.sql").write_text(asked.sql, "utf-8")


def main() -> int:
    """Write the sample, or a suite."""
    if len(sys.argv) > 1:
        suite(Path(sys.argv[1]))
        return 0
    lay(SAMPLE / "context")
    listed = [{"name": asked.name, "question": asked.text, "as_of": AS_OF.isoformat()} for asked in questions()]
    for asked in questions():
        write_gold(asked, GOLD / f"{asked.name}.csv")
    lines = ",\n ".join(json.dumps(one, ensure_ascii=False) for one in listed)
    (GOLD / "questions.json").write_text(f"[{lines}]\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
