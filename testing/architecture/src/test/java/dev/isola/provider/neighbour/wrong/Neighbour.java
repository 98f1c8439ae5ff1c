package dev.isola.provider.neighbour.wrong;

/** A provider that another provider must not know. */
public final class Neighbour {}
