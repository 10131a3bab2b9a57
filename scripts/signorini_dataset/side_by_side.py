"""Tasks that run side by side, in threads that wait for programs."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from signorini_dataset import program


def results(waiting, jobs):
    """Yields what each task (a callable without arguments) of the deque `waiting` returns, in the order in which they end.

    At most `jobs` run at a time. Between two results the caller may put further tasks into the deque. Where a task fails, or the caller is
    interrupted, the programs of all tasks are stopped before the exception leaves.
    """
    running = set()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.add(pool.submit(waiting.popleft()))
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for task in ended:
                    yield task.result()
        except BaseException:
            program.stop()
            raise

