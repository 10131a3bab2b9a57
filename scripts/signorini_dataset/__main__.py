import sys

from signorini_dataset.main import main

sys.exit(main())
