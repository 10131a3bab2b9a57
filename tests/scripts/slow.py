"""Slow tests of a file that runs every time: methods named test_slow_… with this decorator. The entry scripts.<file>.slow runs them."""

import os
import unittest

slow = unittest.skipUnless(os.environ.get("SIGNORINI_SLOW_TESTS"), "slow: scripts/test slow runs it")
