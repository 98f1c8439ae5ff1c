/** Where finished files of the store lie: a folder of this machine, or something further away. */
@NullMarked
package dev.isola.snapshot.blob;

import org.jspecify.annotations.NullMarked;
