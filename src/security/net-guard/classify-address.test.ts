import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { classifyAddress } from "./classify-address.js";

const kinds = (addresses: string) => addresses.split(" ").map((address) => [address, classifyAddress(address).kind]);
const all = (addresses: string, kind: string) => addresses.split(" ").map((address) => [address, kind]);

describe("classifyAddress", () => {
  verifies(["T8"], "knows both ends of every special range of IPv4", () => {
    const forbidden =
      "0.0.0.0 0.255.255.255 169.254.0.0 169.254.255.255 192.0.0.0 192.0.0.255 192.0.2.7 192.88.99.255 198.18.0.0 198.19.255.255 " +
      "198.51.100.9 203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255";
    const inner =
      "10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255";
    const open =
      "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 " +
      "172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.88.98.255 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 " +
      "198.51.99.255 203.0.112.255 203.0.114.0 223.255.255.255";
    expect(kinds(forbidden)).toEqual(all(forbidden, "forbidden"));
    expect(kinds(inner)).toEqual(all(inner, "private"));
    expect(kinds(open)).toEqual(all(open, "public"));
    expect(kinds("127.0.0.0 127.0.0.1 127.255.255.255")).toEqual(
      all("127.0.0.0 127.0.0.1 127.255.255.255", "loopback"),
    );
  });

  verifies(["T8"], "accepts only assigned and public IPv6 addresses", () => {
    const forbidden =
      ":: ::2 100::1 200::1 1fff::1 4000::1 5f00::1 8000::1 fe00::1 fe80::1 febf::1 fec0::1 ff02::1 ffff::1 2001:db8::1 " +
      "2001:0:1::1 2001:20::1 2001:1ff::1 2002:808:808::1 3fff:fff::1 64:ff9b:1::808:808 ::808:808 ::ffff:0:8.8.8.8 " +
      "2a00::5efe:8.8.8.8 2a00::200:5efe:10.0.0.1";
    const open =
      "2001:200::1 2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450::1 2620:4f:8000::1 3fff:1000::1 3ffe::1";
    expect(kinds(forbidden)).toEqual(all(forbidden, "forbidden"));
    expect(kinds(open)).toEqual(all(open, "public"));
    expect(kinds("::1 fc00::1 fdff:ffff::1")).toEqual([
      ["::1", "loopback"],
      ["fc00::1", "private"],
      ["fdff:ffff::1", "private"],
    ]);
  });

  verifies(["T8"], "classifies an address inside an address", () => {
    const inside = (address: string) =>
      [`::ffff:${address}`, `64:ff9b::${address}`].map((text) => classifyAddress(text));
    for (const address of ["127.0.0.1", "10.1.2.3", "169.254.169.254", "8.8.8.8", "0.0.0.0"]) {
      expect(inside(address)).toEqual([classifyAddress(address), classifyAddress(address)]);
    }
    expect(classifyAddress("::ffff:7f00:1").kind).toBe("loopback");
    expect(classifyAddress("0:0:0:0:0:FFFF:0808:0808").allowed).toBe(true);
  });

  verifies(["T8"], "never lets through where clouds hand out credentials, wherever that is", () => {
    const places = "169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 fd20:ce::254";
    expect(kinds(places)).toEqual(all(places, "forbidden"));
    expect(classifyAddress("168.63.129.16").reason).toContain("credentials");
  });

  it("takes nothing for an address that is not one in its usual spelling", () => {
    const none = [
      "",
      "localhost",
      "1.2.3",
      "1.2.3.4.5",
      "256.1.1.1",
      "01.2.3.4",
      "0x7f.0.0.1",
      "2130706433",
      "1.2.3.4 ",
      "1.2.3.-4",
      "fe80::1%eth0",
      "[::1]",
      "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "12345::",
      ":::",
      "1.2.3.4::",
      "::1.2.3.4:5",
      "::1.2.3",
      "1:2:3:4:5:6:7::8:9",
    ];
    for (const text of none) expect([text, classifyAddress(text).reason]).toEqual([text, "is not an IP address"]);
  });

  it("classifies the same address alike in every spelling", () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const long = groups.map((value) => value.toString(16).padStart(4, "0")).join(":");
        const short = new URL(`http://[${long}]/`).hostname.slice(1, -1);
        expect(classifyAddress(long)).toEqual(classifyAddress(short));
        expect(classifyAddress(long.toUpperCase())).toEqual(classifyAddress(short));
      }),
    );
  });
});
