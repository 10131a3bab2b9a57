"""Off-screen pictures of recordings, with numpy and Pillow, curves with matplotlib: no GPU, no display."""
