/** The command {@code microvmctl}: sandboxes by the verbs of the local_microvm contract. */
@NullMarked
package dev.isola.app.microvmctl;

import org.jspecify.annotations.NullMarked;
