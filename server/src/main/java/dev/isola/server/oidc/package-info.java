/** Sign-in of people with an OpenID Connect provider: the authorization code flow with PKCE. */
@NullMarked
package dev.isola.server.oidc;

import org.jspecify.annotations.NullMarked;
