#!/bin/sh
# All that the image does: serve, or another command of the product (users add NAME --role admin, doctor, …).
set -eu
[ "$#" -gt 0 ] || set -- serve
exec python -m app "$@"
