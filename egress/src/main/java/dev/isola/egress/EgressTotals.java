package dev.isola.egress;

/** What a sandbox has done on the network since the server is connected to it. */
public record EgressTotals(
    long connections, long denials, long open, long sentBytes, long receivedBytes) {}
