package dev.isola.provider.http.client;

import dev.isola.spi.Bytes;

/** A complete response. */
record BackendResponse(int status, String type, Bytes body) {
  /** Returns whether the media type is {@code expected}, with or without parameters. */
  boolean is(String expected) {
    int semicolon = type.indexOf(';');
    return (semicolon < 0 ? type : type.substring(0, semicolon)).strip().equalsIgnoreCase(expected);
  }
}
