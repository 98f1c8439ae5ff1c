/**
 * Connections of sandboxes in network mode {@code filtered} to other hosts: the server decides by
 * name, resolves the name, checks the address and connects.
 */
@NullMarked
package dev.isola.egress;

import org.jspecify.annotations.NullMarked;
