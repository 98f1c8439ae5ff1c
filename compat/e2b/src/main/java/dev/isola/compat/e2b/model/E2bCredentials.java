package dev.isola.compat.e2b.model;

import dev.isola.server.auth.PortCredentials;
import java.util.List;

/** The headers in which E2B's clients show credentials, and the names of their bearers in logs. */
public final class E2bCredentials {
  /** Has a key of this server. */
  public static final String KEY_HEADER = "X-API-KEY";

  /** Has the token of a sandbox's files and processes. */
  public static final String ENVD_HEADER = "X-Access-Token";

  /** Has the token of a sandbox's private ports. */
  public static final String TRAFFIC_HEADER = "E2b-Traffic-Access-Token";

  /** The purpose of the token of a sandbox's files and processes. */
  public static final String ENVD = "envd";

  /** The purpose of the token of a sandbox's private ports. */
  public static final String TRAFFIC = "traffic";

  public static final String ENVD_ACTOR = "(envd token)";
  public static final String TRAFFIC_ACTOR = "(traffic token)";
  public static final String SIGNED_URL_ACTOR = "(signed URL)";
  public static final String VOLUME_ACTOR = "(volume token)";
  public static final String UPLOAD_URL_ACTOR = "(upload URL)";

  /** What opens ports of sandboxes. */
  public static final PortCredentials PORTS =
      new PortCredentials(
          List.of(
              new PortCredentials.Token(TRAFFIC_HEADER, TRAFFIC, TRAFFIC_ACTOR),
              new PortCredentials.Token(ENVD_HEADER, ENVD, ENVD_ACTOR)),
          List.of(KEY_HEADER));

  private E2bCredentials() {}
}
