package dev.isola.server.preview;

import dev.isola.server.forward.ForwardableExchange;

/** A request to a port of a sandbox. */
public interface PreviewExchange extends ForwardableExchange {

  /** Returns the path prefix of the sandbox's port; empty in host form. */
  String prefix();

  /** Returns the path and query for the sandbox, percent-encoded as they were sent. */
  String target();

  /** Returns whether the request comes from a page of another origin. */
  boolean isCrossOrigin();

  /** Returns the limits that apply to the request. */
  PreviewThrottle throttle();
}
