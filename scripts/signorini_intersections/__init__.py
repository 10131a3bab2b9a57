"""Independent check of the surfaces of recordings by CGAL: scripts/check_intersections."""
