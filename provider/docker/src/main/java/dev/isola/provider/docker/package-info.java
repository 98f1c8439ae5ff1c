/** Sandboxes by a container engine: Docker, Podman, and gVisor and Kata through them. */
@NullMarked
package dev.isola.provider.docker;

import org.jspecify.annotations.NullMarked;
