/** Names to addresses, and the addresses that no rule opens. */
@NullMarked
package dev.isola.egress.address;

import org.jspecify.annotations.NullMarked;
