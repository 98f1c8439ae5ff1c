/** What a sandbox takes from this machine: control groups, images, networks, roots. */
@NullMarked
package dev.isola.host;

import org.jspecify.annotations.NullMarked;
