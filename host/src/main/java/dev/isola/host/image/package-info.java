/**
 * The images of an installation: root file systems that sandboxes start from, imported, pulled or
 * built. What is in an archive is hostile until it lies in its folder.
 */
@NullMarked
package dev.isola.host.image;

import org.jspecify.annotations.NullMarked;
