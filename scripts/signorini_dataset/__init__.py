"""scripts/make_dataset: scenes become recordings, snapshots, FCLib files with reference solutions, and tables."""
