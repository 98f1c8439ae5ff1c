/** Sandboxes of any service that implements the backend protocol, docs/backend-protocol.yaml. */
@NullMarked
package dev.isola.provider.http;

import org.jspecify.annotations.NullMarked;
