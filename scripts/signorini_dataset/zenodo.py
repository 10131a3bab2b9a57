""".zenodo.json: what Zenodo asks of an upload (https://developers.zenodo.org, deposit metadata), ready for a DOI."""

import html
import json
import re

from signorini_dataset.options import SOURCE


def cited():
    """(authors, version, licence, papers) of CITATION.cff, which is simple enough to be read by lines."""
    text = (SOURCE / "CITATION.cff").read_text(encoding="utf-8")
    head, references = text.split("\nreferences:\n", 1)
    authors = re.findall(r'^  - name: "(.+)"$', head, re.M)
    authors += [f"{family}, {given}" for family, given in re.findall(r"^  - \{?family-names: ([^,}\n]+), given-names: ([^,}\n]+)\}?$", head, re.M)]
    version, licence = (re.search(rf"^{key}: (.+)$", head, re.M).group(1) for key in ("version", "license"))
    return authors, version, licence, [paper_text(paper) for paper in references.split("  - type: ")[1:]]


def paper_text(entry):
    """One reference: authors, title, where, year."""
    people = [f"{family}, {given}" for family, given in re.findall(r"family-names: ([^,}]+), given-names: ([^,}]+)", entry)]
    title, year = re.search(r'title: "(.+)"', entry).group(1), re.search(r"year: (\d+)", entry).group(1)
    where = re.search(r'(?:journal|collection-title): "(.+)"', entry).group(1)
    return f"{'; '.join(people)}: {title}. {where}, {year}."


def description(made, settings):
    contacts = [int(row["contacts"]) for row in made.problems]
    span = f" with {min(contacts):,} to {max(contacts):,} contacts" if contacts else ""
    part = f" This is the {settings['part']} part, {len(made.problems)} of {settings['problems_of_all_parts']} problems." if "part" in settings else ""
    words = (f"{len(made.problems)} frictional contact problems{span}, recorded from simulations of deformable and rigid bodies, each as an FCLib file (HDF5) "
             "and as an archive of numpy arrays (npz), with a reference solution and its measured error, statistics, a datasheet and a loader in Python.")
    return f"<p>{html.escape(words + part)}</p><p>DATASHEET.md says what is in it, how it was made, and what its known defects are.</p>"


def text(made, settings):
    authors, version, licence, papers = cited()
    part = f", {settings['part']} part" if "part" in settings else ""
    metadata = {
        "title": f"Contact problems of deformable bodies with reference solutions (size {settings['size']}{part})",
        "upload_type": "dataset",
        "description": description(made, settings),
        "creators": [{"name": name} for name in authors],
        "access_right": "open",
        "license": licence,
        "version": version,
        "language": "eng",
        "keywords": ["frictional contact", "Coulomb friction", "deformable bodies", "finite elements", "complementarity problem", "benchmark", "FCLib"],
        "references": papers,
        "related_identifiers": [
            {"identifier": "https://github.com/FrictionalContactLibrary/fclib", "relation": "references", "resource_type": "software"},
            {"identifier": "10.1145/3458723", "relation": "references", "resource_type": "publication-article"},
        ],
    }
    return json.dumps(metadata, indent=1, ensure_ascii=False) + "\n"
