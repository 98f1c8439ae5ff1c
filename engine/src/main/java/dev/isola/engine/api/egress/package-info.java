/** The connections of sandboxes to other hosts, as clients see and change them. */
@NullMarked
package dev.isola.engine.api.egress;

import org.jspecify.annotations.NullMarked;
