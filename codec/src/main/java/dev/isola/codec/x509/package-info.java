/** X.509 certificates (RFC 5280), which the JDK reads but does not create. */
@NullMarked
package dev.isola.codec.x509;

import org.jspecify.annotations.NullMarked;
