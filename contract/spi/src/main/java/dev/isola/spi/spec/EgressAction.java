package dev.isola.spi.spec;

/** What happens to a connection to another host. */
public enum EgressAction {
  ALLOW,
  DENY
}
