/** Sandboxes as pods of a Kubernetes cluster. */
@NullMarked
package dev.isola.provider.kubernetes;

import org.jspecify.annotations.NullMarked;
