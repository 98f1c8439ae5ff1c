package dev.isola.compat.e2b.model;

import dev.isola.server.auth.PortCredentials;
import java.util.List;

/**
 * Headers that carry the credentials of E2B's clients, and the names of these credentials in logs.
 */
public final class E2bCredentials {
  /** Carries an API key of this server. */
  public static final String KEY_HEADER = "X-API-KEY";

  /** Carries the token for a sandbox's files and processes. */
  public static final String ENVD_HEADER = "X-Access-Token";

  /** Carries the token for a sandbox's private ports. */
  public static final String TRAFFIC_HEADER = "E2b-Traffic-Access-Token";

  /** Purpose of the token for a sandbox's files and processes. */
  public static final String ENVD = "envd";

  /** Purpose of the token for a sandbox's private ports. */
  public static final String TRAFFIC = "traffic";

  public static final String ENVD_ACTOR = "(envd token)";

  /** A client without a credential, at a sandbox that needs none. */
  public static final String ANONYMOUS_ACTOR = "(no token)";

  public static final String TRAFFIC_ACTOR = "(traffic token)";
  public static final String SIGNED_URL_ACTOR = "(signed URL)";
  public static final String VOLUME_ACTOR = "(volume token)";
  public static final String UPLOAD_URL_ACTOR = "(upload URL)";

  /** Credentials that are accepted for ports of sandboxes. */
  public static final PortCredentials PORTS =
      new PortCredentials(
          List.of(
              new PortCredentials.Token(TRAFFIC_HEADER, TRAFFIC, TRAFFIC_ACTOR),
              new PortCredentials.Token(ENVD_HEADER, ENVD, ENVD_ACTOR)),
          List.of(KEY_HEADER));

  private E2bCredentials() {}
}
