package dev.isola.server.forward;

import java.io.IOException;

/** Thrown when a server or a sandbox sends something other than an HTTP/1.1 response. */
public final class MalformedResponse extends IOException {
  private static final long serialVersionUID = 1;

  public MalformedResponse(String why) {
    super(why);
  }
}
