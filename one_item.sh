#!/bin/sh
echo right
