/** Sandboxes in a container engine: Docker and Podman, and gVisor and Kata as their runtimes. */
@NullMarked
package dev.isola.provider.docker;

import org.jspecify.annotations.NullMarked;
