package dev.isola.provider.docker.http;

import dev.isola.spi.Bytes;

/** A complete response. */
public record EngineResponse(int status, Bytes body) {
  public boolean ok() {
    return status >= 200 && status < 300;
  }

  public String text() {
    return body.utf8();
  }
}
