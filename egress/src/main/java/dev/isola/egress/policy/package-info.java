/** Which destinations are allowed: rules of sandboxes, limits of the operator, presets. */
@NullMarked
package dev.isola.egress.policy;

import org.jspecify.annotations.NullMarked;
