select * from sales
select * from SALES
select s.* from main.sales s
from sales
from sales select region, sum(amount) group by all
table sales
values (1, 'a'), (2, 'b')
select 1
select * from "订单" where "金额" > 100 and 城市 = '上海'
select * from "odd name; drop table sales"
select s.region, p.name from sales s join products p on s.product_id = p.id
select * from sales left join products on product_id = id where id is null
select * from sales s, products p where s.product_id = p.id
select * from sales natural join products
select * from sales semi join products on product_id = id
select * from sales s asof join products p on s.product_id >= p.id
select * from sales positional join products
with a as (select region, sum(amount) t from sales group by 1), b as (select max(t) m from a) select region from a, b where t = m
with sales as (select * from sales where amount > 0) select count(*) from sales
with a as materialized (from sales) from a
with recursive n as (select 1 i union all select i + 1 from n where i < 5) select sum(i) from n
with recursive n using key (i) as (select 1 i union select i + 1 from n where i < 3) from n
select * from (with a as (select 1 x) select x from a) q
select region, (select count(*) from products where id = sales.product_id) from sales
select * from sales where product_id in (select id from products)
select * from sales where exists (select 1 from products p where p.id = sales.product_id)
select region from sales union all select name from products order by 1 limit 3
select region from sales except select name from products
select 1 as a union all by name select 2 as b
select region, row_number() over (partition by region order by amount desc) r from sales qualify r = 1
select sum(amount) over w from sales window w as (order by day rows between 1 preceding and current row)
select region, sum(amount) filter (where amount > 10), string_agg(region, ',' order by region) from sales group by grouping sets ((region), ())
select distinct on (region) region, amount from sales order by region, amount desc nulls last limit 10 offset 2
select * from sales limit 10%
pivot sales on region in ('north', 'south') using sum(amount)
from sales pivot (sum(amount) for region in ('north', 'south'))
unpivot products on name, kind into name k value v
select unnest([1, 2, 3])
from range(3)
select * from generate_series(1, 3) t(i)
select u.x from sales, unnest([1, 2]) u(x)
select * from sales, lateral (select sales.amount * 2 as twice)
select list_transform([1, 2], lambda x: x + 1), [x for x in [1, 2] if x > 1], {'a': 1}, map {1: 2}
select columns('am.*') from sales
select * exclude (region) replace (amount * 2 as amount) from sales
select cast(day as date), day::timestamp, try_cast(region as integer), amount::decimal(10, 2) from sales
select date '2024-01-31' + interval 1 month, date_trunc('month', day::date), age(day::date, date '2024-01-01') from sales
select case when amount > 1 then 'x' else 'y' end, coalesce(region, 'none'), nullif(amount, 0) from sales
select 'select * from read_csv(''/etc/passwd'')' as text, '; drop table sales' as more
select region from sales -- ; drop table sales
select /* copy sales to 'x' */ count(*) from sales;
select "now", "random" from (select 1 as "now", 2 as "random")
select s."current_date" from (select 1 as "current_date") s
select * from sales using sample reservoir(10 rows) repeatable (42)
describe sales
summarize sales
describe select region from sales
show tables
select json_extract('{"a": 1}', '$.a'), '{"a": 1}'::json ->> '$.a'
select regexp_extract(region, '(a+)+$'), md5(region), hash(region), upper(region) from sales
select list_aggregate(list(amount), 'sum') from sales
select list(amount).list_aggr('median') from sales
with "Kb" as (select 1 as a) select a from kB
