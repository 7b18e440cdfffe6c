"""Words of both languages, and the embedded index: keywords → lookup → nearest; passages of a text by a question."""
