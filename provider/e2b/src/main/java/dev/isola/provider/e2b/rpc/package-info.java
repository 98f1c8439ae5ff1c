/** The protocol of envd, E2B's daemon in a sandbox: JSON calls and streams, and file content. */
@NullMarked
package dev.isola.provider.e2b.rpc;

import org.jspecify.annotations.NullMarked;
