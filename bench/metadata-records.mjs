// Two records in text format, written for the bench after what is usual: with no field that any contestant does not know.

/** As an updater tool writes it: the canonical form, after a comment. */
const canonical = `# This project was upgraded with external_updater.
# Usage: tools/external_updater/updater.sh update external/lumen
# For more info, check https://example.org/tools/external_updater/README.md

name: "lumen"
description: "A small library that reads and writes still images."
third_party {
  license_type: NOTICE
  last_upgrade_date {
    year: 2026
    month: 3
    day: 14
  }
  url {
    type: HOMEPAGE
    value: "https://lumen.example.org/"
  }
  url {
    type: GIT
    value: "https://git.example.org/lumen/lumen.git"
  }
  version: "v2.14.1"
  security {
    tag: "NVD-CPE2.3:cpe:/a:lumen:lumen:2.14.1"
  }
}
`

/** As people write it: comments within, wrapped strings, blocks on one line, both quotes, escapes, text that is not ASCII. */
const handwritten = `name: 'lumen'
description:
    "A small library that reads and writes still images, with "
    "bindings for three languages. It was written by Zoë Müller\\n"
    "and is kept by the \\"Lumen\\" project."

third_party {
  # The mirror lags behind by some hours.
  url { type: GIT value: "https://git.example.org/lumen/lumen.git" }
  url { type: ARCHIVE, value: "https://lumen.example.org/lumen-2.14.1.tar.xz" }
  version: "v2.14.1"  # keep in step with BUILD
  last_upgrade_date { year: 2026 month: 3 day: 14 }
  license_type: NOTICE
  license_note: 'Parts in codec/ are "BSD-3-Clause".'
  local_modifications: "Removed tests/data, which has no licence; "
                       "see patches/0001.patch."
  security: <
    category: TRUSTED_DATA_ONLY
    tag: ["NVD-CPE2.3:cpe:/a:lumen:lumen:2.14.1", "fuzzed"]
  >
}
`

export const RECORDS = { canonical, 'by hand': handwritten }
