/** Named volumes: create, list, remove, and access to their files without a client sandbox. */
@NullMarked
package dev.isola.engine.api.volume;

import org.jspecify.annotations.NullMarked;
