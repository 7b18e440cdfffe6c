"""What intake says of a file, a table or a column → a stable code with its meaning and what to do.

The words may change, a code never does: new ones are added, none is given a second meaning. The first that fits counts.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

UNKNOWN = "T999"


class Kind(NamedTuple):
    """One code. `pattern` finds it in the words; a `problem` may make an answer wrong or incomplete, the others inform."""

    code: str
    problem: bool
    pattern: str
    meaning: str
    advice: str


FILES = (
    Kind("T126", False, "^its text has |^the same as |^not needed: the text is read|^not watched: (its|the) text was|^read when a question",
         "A video, or a text that was made of one beforehand: how much was read of it, or where its text was read instead.", "Nothing."),
    Kind("T127", True, "^not watched: |^no text was found in it|^larger than .* MB$",
         "No text could be had of a video, or of what was made of it beforehand.", "See the reason; with the extra `video` slides are read, with a speech model what is said."),
    Kind("T131", True, "^live database: ",
         "A live database, or a table of it, could not be read; the run went on without it.", "The reason ends with the next step; run again when it is done."),
    Kind("T101", True, "^the file is empty|nothing but blank|holds no (table|column|sheet)|rows without any value|^sheet .* is empty$",
         "The file, or a part of it, holds no table.", "Check whether the export went wrong; else nothing needs to be done."),
    Kind("T109", True, "^binary, not text: ", "The bytes are no text, whatever the suffix says: a file of a program, one that was cut off or overwritten, or an encrypted one.",
         "Get the file again, or export it from its program as CSV (UTF-8)."),
    Kind("T103", True, "^(it is )?encrypted", "The file needs a password.", "Save it without a password."),
    Kind("T102", True, "an HTML page, no|no SQLite database|^not a SQLite|no Excel workbook|no text$|no PDF|, no video$|XML, no workbook|, no (CSV|JSON|PDF)|no Parquet, Arrow|no such kind",
         "The content is not what the suffix says, and is not read as what it is.", "Save the data themselves: open the file in the program it belongs to and export it."),
    Kind("T104", True, "damaged|not valid JSON|the database cannot be read|nested too deeply|^it gave .* in place of|no workbook, or|^no Word document",
         "The file is damaged, breaks off, or breaks the rules of its format. It is not read in part.", "Get it again, or repair it where the reason says."),
    Kind("T105", True, "^cannot be read: |the folder cannot be read", "The system does not let the file or folder be read.", "Give read permission."),
    Kind("T106", True, "^reading it (stopped|needs|needed|ended|replied)|^not read in time|it would unpack", "Reading it, or all of it, took more time or memory than a file may take.",
         "Split the file, or raise intake.file_seconds or intake.memory_mb."),
    Kind("T107", True, "changed while it was read|is it being written", "The file changed while it was read.", "Run again when nothing writes to it."),
    Kind("T108", True, "its name is not valid UTF-8", "The file's name cannot be written down.", "Rename it."),
    Kind("T110", False, "whatever its suffix says", "The content is not what the suffix says, and was read as what it is.", "Nothing; give it the right suffix if you like."),
    Kind("T111", True, "^(view|virtual table|table) .*: |is a chart or a macro", "A part of the file could not be read; the rest was.",
         "See the reason: a view that is broken or too slow can be saved as a table."),
    Kind("T121", False, "^a link ", "A link that leaves the folder, leads nowhere or back up is not followed.", "Copy the file into the folder if it is needed."),
    Kind("T122", False, "^hidden (file|folder)|file of an office program|not a regular file", "Files of the system, hidden ones, pipes and sockets are not data.", "Rename it if it is needed."),
    Kind("T123", False, "belongs to .* and is read with it|holds the question|working file of a video", "The file is part of another one, or of the task.", "Nothing."),
    Kind("T124", False, "lies outside", "In a task folder only the sources in context/ are read.", "Move it there if it is needed."),
    Kind("T125", False, "are not read|suffix is not read|: unpack it|^a program$|picture$|^(gzip|bzip2|xz)-compressed|^a (ZIP|7z|RAR) archive|^an (empty ZIP|old Office)|^a PDF$|^an ORC",
         "Files of this kind are not read.", "Unpack archives; save documents as PDF or Markdown and tables as CSV."),
)  # fmt: skip
READING = (
    Kind("T201", False, "^read as [a-z]", "The text is in a legacy encoding, and the bytes show which, but for relatives that are named.", "Nothing."),
    Kind("T202", True, "^encoding guessed", "The text is in a legacy encoding, and too few characters show which; what else would fit is named.", "Look at names and texts; if they are wrong, save the file as UTF-8."),
    Kind("T203", True, "lines in UTF-8 and lines in", "Lines in two encodings stand in one file; each was read as what it is.", "Look at the texts; better save it as UTF-8."),
    Kind("T204", True, "could not be decoded|half a surrogate|not valid UTF-8; U", "Some characters are damaged; U+FFFD stands for them.", "Get the file again if these texts matter."),
    Kind("T211", False, "^(lines )?above the header", "Titles or comments stood above the names of the columns; they are kept aside.", "Nothing."),
    Kind("T212", True, "looks like values", "The first row looks like values, so the columns are numbered.", "Add a row with names if you know them."),
    Kind("T213", False, "holds years only", "A first row of years was taken as names.", "Check that it is no row of values."),
    Kind("T217", True, "looks like a second row of names", "The row below the names of the columns looks like a second one, of units or names; it was kept as a row of data, and makes columns of numbers text.", "Delete that row in the source, or put what it says into the names."),
    Kind("T214", False, "names the delimiter", "The first line (`sep=`) names the delimiter.", "Nothing."),
    Kind("T215", True, "^one column only", "No delimiter was found, though the name looks like several.", "Save the file with commas, semicolons or tabs."),
    Kind("T216", True, "divides it as regularly", "Two delimiters divide every line alike; the note says which was taken, and what the other gives.", "Look at the columns; if they are wrong, begin the file with a line `sep=` and the right sign."),
    Kind("T221", True, "(have|has) fewer fields", "Rows are shorter than the header; NULL stands in what is missing.", "Check these rows in the source."),
    Kind("T222", True, "(have|has) more fields", "Rows are longer than the header; what they have more stands in added columns.", "Check for delimiters in unquoted text."),
    Kind("T223", False, "blank (line|row)s? skipped", "Blank lines are no rows.", "Nothing."),
    Kind("T224", True, "after a closing quote", "A quoted field goes on after its quote; it is read as written.", "Check these fields."),
    Kind("T225", True, "runs? over more than 20 lines", "A quoted field is very long.", "Check whether a quote was never closed: rows may have been swallowed."),
    Kind("T226", True, "((lines|rows) are|(line|row) is) not in it", "Lines could not be read as rows; they are kept in the table that is named, none is lost.", "Look at them there: `select * from …__set_aside`."),
    Kind("T231", False, "of the same name|differ only in case|without a name or", "Columns had equal names (case aside) or none, and were renamed.", "Use the names that are shown."),
    Kind("T232", False, "columns? without a name", "Columns without a name are numbered by position.", "Nothing."),
    Kind("T233", False, "the name itself begins", "A column's name begins or ends with a blank.", "Quote it as it is."),
    Kind("T234", False, "^called .* in its source", "Several tables had this name, so each has a prefix.", "Use the name that is shown."),
    Kind("T241", True, "given twice in one object", "An object has the same key twice; the last value counts.", "Check the program that wrote it."),
    Kind("T242", True, "NaN or Infinity|NaN read as NULL", "NaN and Infinity were read as NULL.", "Nothing, if they mean a missing value."),
    Kind("T251", True, "WAL mode without", "A database that was copied while in use may lack its last rows.", "Copy the -wal file too, or export again."),
    Kind("T252", False, "^a (view|virtual table)$", "The table is a view or a virtual table of the database.", "Nothing."),
    Kind("T261", False, "^a hidden sheet", "The sheet is hidden in the workbook; it was read.", "Check that it is meant to be used."),
    Kind("T262", True, "hidden rows are in it", "Rows that are hidden, as by a filter, were read with the others.", "Check that they are meant to count."),
    Kind("T264", True, "^the workbook has the number format", "A format such as 000000 is in an unusual .xls whose formats cannot be read cell by cell; its numbers are read without the zeros in front.", "Save the workbook as .xlsx, where formats are read cell by cell."),
    Kind("T265", False, r"^one of \d+ tables on the sheet", "Several tables stand on one sheet; each became a table of its own.", "Nothing."),
    Kind("T266", True, "may be (the names of )?another table", "A blank row or column may divide two tables; all was read as one.", "Give each table a sheet of its own, or delete the blank row or column."),
    Kind("T263", True, "merged ranges", "Of merged cells only the first has the value.", "Unmerge and fill them if each row needs it."),
)  # fmt: skip
VALUES = (
    Kind("T301", False, "^(?=.*(marks such as|blank texts)).*read as NULL", "Marks for no value (NA, -, …) or blanks among numbers or dates were read as NULL.", "Nothing."),
    Kind("T302", False, "marks such as .* kept as text", "Marks that may mean no value stay in a text column: NA is also Namibia.", "Leave them out in the question if they mean nothing."),
    Kind("T303", True, "^error cells", "Cells with an error (#N/A, #DIV/0! …) were read as NULL.", "Mend the formulas if these values matter."),
    Kind("T304", True, "formulas? without a stored value", "The program that wrote the workbook did not store what its formulas give.", "Open it in Excel or LibreOffice and save it."),
    Kind("T311", False, "leading zeros", "Numbers with leading zeros are text, so that the zeros stay.", "Nothing."),
    Kind("T312", False, "leading \\+", "Numbers with a leading + (phones) are text.", "Nothing."),
    Kind("T325", False, "^[^;]*with the unit '[^;]*; text: ", "Numbers with one and the same unit behind them (`12 kg`) are text.", "Nothing: the note says how a query converts them."),
    Kind("T326", True, "^numbers in several units", "Numbers with different units behind them (`12 kg`, `700 g`), or some with one and some without, are text.", "Bring them to one unit in the source, or tell in knowledge.md how."),
    Kind("T324", False, "(?<!some )with a decimal comma[^;]*; text: ", "Numbers with a decimal comma are text, and the values leave no doubt of it.", "Nothing: the note says how a query converts them."),
    Kind("T313", False, "thousands separators", "Numbers with thousands separators are text.", "Nothing: the note says how a query converts them."),
    Kind("T314", True, "decimal comma", "Numbers with a decimal comma are text; 1,234 may be read in two ways.", "Tell in knowledge.md which is meant; the note has the words."),
    Kind("T315", False, "percentages; text|shown as percent", "The values are percentages: as text with the sign, or as the number that is stored.", "Mind the factor 100."),
    Kind("T316", False, "with a currency|shown as money", "The values are amounts of money.", "Nothing."),
    Kind("T317", True, "numbers in brackets", "Numbers in brackets, which may mean below zero, are text.", "Tell in knowledge.md what is meant."),
    Kind("T327", False, "below zero in brackets", "Numbers of which some are below zero in brackets or with a minus behind (`(3.5)`, `7-`) are text.", "Nothing: the note says how a query converts them."),
    Kind("T318", False, "more than 38 digits", "Integers that fit no number type are text.", "Nothing."),
    Kind("T319", False, "too long for DOUBLE", "Whole numbers that a DOUBLE would round stand beside decimals; all is text.", "Nothing."),
    Kind("T320", True, "more digits than DOUBLE|more digits than fit", "Numbers have more digits than a DOUBLE keeps.", "Nothing, unless the last digits matter."),
    Kind("T321", True, "are no plain numbers", "Most values are numbers, some are not; the column is text.", "Check those that are named."),
    Kind("T322", False, "holds as text|are held as text", "Numbers or dates are text in the source.", "Nothing: a query can convert them."),
    Kind("T323", True, "values of several types", "A column has values of several types; all are text.", "Check the rarer kind."),
    Kind("T331", False, "ISO times in a form", "Times in a form that would not print back the same are text.", "Nothing: the note says how a query converts them."),
    Kind("T332", False, "dates, year first", "Dates with the year first, not in ISO form, are text.", "Nothing."),
    Kind("T333", False, "dates in words", "Dates in words are text.", "Nothing."),
    Kind("T334", True, "dates in more than one form", "Dates in several forms are text.", "Tell in knowledge.md what is meant, or unify them."),
    Kind("T335", True, "some with the day first and some", "Some dates can only have the day first, others only the month.", "Correct the source: the rest of its dates cannot be known."),
    Kind("T336", False, "dates, (day|month) first as", "The values decide whether the day or the month is first; text.", "Nothing."),
    Kind("T337", True, "does not decide|were it the month", "Nothing in the file decides whether the day or the month is first; text.", "Tell in knowledge.md which it is; the note has the words."),
    Kind("T338", False, "kept in UTC", "Instants with a time zone are kept in UTC.", "Mind the zone when a question asks for local days."),
    Kind("T339", False, "durations; text", "Times of the day or durations are text.", "Nothing."),
    Kind("T341", False, "begins? or ends? with a blank", "Texts have blanks around them, which stay.", "Trim them in the source if they should be equal to others."),
    Kind("T351", False, "as JSON text", "Nested values are JSON text.", "Nothing: a query can look into them."),
    Kind("T352", False, "all UTF-8; read as text", "Bytes without a type are text, since all of them are.", "Nothing."),
    Kind("T353", False, "; text$", "Values of a type that queries do not know are text.", "Nothing."),
)  # fmt: skip
OTHER = Kind(UNKNOWN, True, "", "The reader failed in a way that is not foreseen, which the reason shows.", "Please report it, with the file if you can.")  # fmt: skip
GROUPS = (("Files", FILES), ("Reading", READING), ("Values", VALUES))


@functools.lru_cache(maxsize=4096)
def kind_of(said: str) -> Kind:
    """The code of something that intake says."""
    return next((kind for _, group in GROUPS for kind in group if re.search(kind.pattern, said)), OTHER)


def page() -> str:
    """docs/problems.md."""
    lines = [
        "# Problems and notes",
        "",
        "What `tablewright inspect` says of files, tables and columns, by code. A code never changes its meaning. **Problems** may make an",
        "answer wrong or incomplete; notes inform. This page is made from `tasks/intake/loading/problems.py` by `python tests/bad_input.py --page`.",
    ]
    for title, group in (*GROUPS, ("Other", (OTHER,))):
        lines += ["", f"## {title}", "", "| code | | meaning | what to do |", "|---|---|---|---|"]
        for kind in sorted(group):
            lines.append(
                f"| {kind.code} | {'**problem**' if kind.problem else 'note'} | {kind.meaning} | {kind.advice} |"
            )
    return "\n".join(lines) + "\n"
