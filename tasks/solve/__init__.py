"""A question becomes an answer: profile → compress → contract → agent → publish → deliver."""
