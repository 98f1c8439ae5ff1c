/** A client for the part of the Kubernetes API that the provider needs. */
@NullMarked
package dev.isola.provider.kubernetes.api;

import org.jspecify.annotations.NullMarked;
