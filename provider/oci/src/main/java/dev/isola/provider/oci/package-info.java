/** Sandboxes with an OCI runtime: crun, runc, gVisor. */
@NullMarked
package dev.isola.provider.oci;

import org.jspecify.annotations.NullMarked;
