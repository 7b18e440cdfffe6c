"""A worker's child for tests whose imports start a thread: it cannot be forked."""

import threading
import time

import answering

if __name__ == "__main__":
    answering.answer_requests(answering.handle, threading.Thread(target=time.sleep, args=(600,), daemon=True).start)
