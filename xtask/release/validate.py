# Validates a CycloneDX document with the schema of its version.
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1], encoding="utf-8") as file:
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
if error:
    sys.exit(f"the SBOM is invalid: {error}")
