"""Words of both languages, and the embedded index: keywords → index → lookup → nearest; passages of a text by a question."""
