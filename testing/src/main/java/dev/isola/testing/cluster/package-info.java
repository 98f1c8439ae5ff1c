/** A private Kubernetes cluster for tests, which leaves nothing behind. */
@NullMarked
package dev.isola.testing.cluster;

import org.jspecify.annotations.NullMarked;
