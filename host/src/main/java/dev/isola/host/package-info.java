/** What a sandbox takes from this machine: control groups, images, layers, networks, roots. */
@NullMarked
package dev.isola.host;

import org.jspecify.annotations.NullMarked;
