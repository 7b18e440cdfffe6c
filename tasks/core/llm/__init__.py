"""door → talk → replies → journal, else retry → endpoints → client; `votes` asks several times, `local` serves a model here."""
