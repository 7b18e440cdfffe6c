"""How tables, columns, joins and the contract are written for a model, wherever it reads of them."""
