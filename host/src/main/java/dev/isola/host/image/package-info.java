/**
 * The images of an installation: root file systems that sandboxes start from, imported, pulled or
 * built. The content of archives is untrusted.
 */
@NullMarked
package dev.isola.host.image;

import org.jspecify.annotations.NullMarked;
