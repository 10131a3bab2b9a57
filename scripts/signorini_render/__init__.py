"""Off-screen pictures of recordings, with numpy and Pillow alone: no GPU, no display."""
