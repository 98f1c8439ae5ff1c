package dev.isola.provider.docker.http;

import java.nio.charset.StandardCharsets;

/** A whole answer. */
public record Answer(int status, byte[] body) {
  public boolean ok() {
    return status >= 200 && status < 300;
  }

  public String text() {
    return new String(body, StandardCharsets.UTF_8);
  }
}
